"""Operations on clusters that are reached through the brokers' API."""
